#include "core/pricing/book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/pricing/hours.h"

namespace hostler::pricing {
namespace {

using model::Market;
using model::Micros;
using model::ZonePrice;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

ZonePrice price(std::int64_t at, std::int64_t value, const std::string& zone = "z1",
                Market market = Market::kOnDemand) {
  return {zone, market, {hour(at), {value}}};
}

TEST(PriceBookTest, TellsWhatIsNewOldestFirst) {
  Book book;
  EXPECT_THAT(book.take("west", "small", {price(5, 20), price(1, 10), price(3, 10)}, hour(9)),
              ElementsAre(seen(1, 10), seen(5, 20)));
  EXPECT_THAT(book.take("west", "small", {price(5, 20), price(7, 20), price(8, 30)}, hour(9)),
              ElementsAre(seen(8, 30)));
  EXPECT_THAT(book.take("west", "small", {price(1, 10), price(8, 30)}, hour(9)), IsEmpty());
  EXPECT_EQ(book.price("west", "small", "z1", Market::kOnDemand), Micros{30});
  EXPECT_EQ(book.newest("west", "small"), hour(8));
}

TEST(PriceBookTest, APriceThatBeginsLaterIsNotInForce) {
  Book book;
  EXPECT_THAT(book.take("west", "small", {price(1, 10), price(5, 20)}, hour(2)),
              ElementsAre(seen(1, 10)));
  EXPECT_EQ(book.price("west", "small", "z1", Market::kOnDemand), Micros{10});
}

TEST(PriceBookTest, TheDriversChoiceOfZoneCostsTheDearest) {
  Book book;
  (void)book.take("west", "small", {price(1, 10, "a"), price(1, 30, "b"), price(1, 20, "c")},
                  hour(2));
  EXPECT_EQ(book.price("west", "small", "", Market::kOnDemand), Micros{30});
  EXPECT_EQ(book.price("west", "small", "c", Market::kOnDemand), Micros{20});
  EXPECT_EQ(book.price("west", "small", "d", Market::kOnDemand), std::nullopt);
  EXPECT_EQ(book.price("west", "large", "", Market::kOnDemand), std::nullopt);
  EXPECT_EQ(book.price("west", "small", "", Market::kSpot), std::nullopt);
}

// Bug: a driver that named a new zone each time made the book grow without end.
TEST(PriceBookTest, PassesOverZonesBeyondItsLimit) {
  Book book;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < Book::kZonesMax + 50; ++i)
    taken += book.take("west", "small", {price(1, 10, "z" + std::to_string(i))}, hour(2)).size();
  EXPECT_EQ(taken, Book::kZonesMax);
  EXPECT_THAT(book.take("west", "small", {price(2, 11, "z0")}, hour(3)), SizeIs(1)) << "known";
  EXPECT_THAT(book.take("west", "large", {price(1, 10, "z")}, hour(3)), SizeIs(1));
}

TEST(PriceBookTest, APriceWithoutAZoneIsEveryZones) {
  Book book;
  (void)book.take("west", "small", {price(1, 10, "")}, hour(2));
  EXPECT_EQ(book.price("west", "small", "z7", Market::kOnDemand), Micros{10});
}

TEST(PriceBookTest, GoesOnFromWhatTheJournalKnew) {
  Book book;
  book.restore(seen(5, 20));
  EXPECT_THAT(book.take("west", "small", {price(1, 10), price(5, 20), price(6, 25)}, hour(9)),
              ElementsAre(seen(6, 25)));
}

}  // namespace
}  // namespace hostler::pricing
